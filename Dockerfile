# An image of the service for an external Postgres. It runs as an unprivileged user, and writes nothing to its disk:
# `docker run --read-only --cap-drop ALL`. docs/operating.md explains how to run it.
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS install
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY prisma prisma
COPY deploy/install.sh deploy/
RUN sh deploy/install.sh && rm -r deploy
COPY src src
COPY docs docs

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 METRICS_HOST=0.0.0.0 METRICS_PORT=9464
WORKDIR /app
COPY --from=install /app ./
USER node
EXPOSE 4000 9464
# The metrics port answers in every ROLE. /health/live shows that the process works; load balancers use /health/ready.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--disable-warning=ExperimentalWarning", "src/main.ts"]
