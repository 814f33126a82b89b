import { setTimeout as delay } from 'node:timers/promises';
import { switchSpans } from '../../infra/instruments/spans.ts';
import type { Config } from '../config.ts';

/** How long shutdown waits for the last spans to be sent, in ms. The whole shutdown must take less than 10 s. */
const flushMs = 1_000;

type TracingSettings = Pick<
  Config,
  'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_SERVICE_NAME' | 'OTEL_TRACES_SAMPLER_ARG'
>;

/** Sends spans to the collector at OTEL_EXPORTER_OTLP_ENDPOINT. Loads the libraries only if that is set. */
export async function startTracing({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  OTEL_SERVICE_NAME: service,
  OTEL_TRACES_SAMPLER_ARG: share,
}: TracingSettings): Promise<{ stop(): Promise<void> } | undefined> {
  if (endpoint === undefined) return undefined;
  const api = await import('@opentelemetry/api');
  const sdk = await import('@opentelemetry/sdk-trace');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  const { W3CTraceContextPropagator } = await import('@opentelemetry/core');
  const resources = await import('@opentelemetry/resources');
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    ...(headers && { headers }),
  });
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': service }),
    // Follows the caller's sampling decision, and samples a share of the traces that begin in this service.
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(share) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  api.trace.setGlobalTracerProvider(provider);
  switchSpans(true);
  return {
    async stop() {
      switchSpans(false);
      // An unavailable collector must not delay shutdown.
      const late = delay(flushMs, undefined, { ref: false });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      for (const one of [api.trace, api.context, api.propagation]) one.disable();
    },
  };
}
