declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** Shows a document. See https://github.com/swagger-api/swagger-ui/blob/master/docs/usage/configuration.md. */
  const SwaggerUI: (options: Readonly<Record<string, unknown>>) => {
    preauthorizeBasic(scheme: string, username: string, password: string): void;
  };
  export default SwaggerUI;
}
