declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** Shows the document. https://github.com/swagger-api/swagger-ui/blob/master/docs/usage/configuration.md */
  const SwaggerUI: (options: Readonly<Record<string, unknown>>) => {
    preauthorizeBasic(scheme: string, username: string, password: string): void;
    readonly specActions: { updateJsonSpec(document: object): void };
    readonly oas3Selectors: {
      hasUserEditedBody(path: string, method: string): boolean;
      activeExamplesMember(path: string, method: string, contextType: string, contextName: string): string;
    };
    readonly oas3Actions: { setRequestBodyValue(change: { pathMethod: readonly string[]; value: string }): void };
  };
  export default SwaggerUI;
}
