# The dashboard, the service's bundle, the documentation and the client's package are built by tools that the image doesn't keep. The database is another container's
# (docker-compose.yml).
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /service
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
RUN npm ci
COPY . .
RUN npm run build:dashboard && npm run build:service && npm run build:docs && npm run build:client

FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
ENV NODE_ENV=production
WORKDIR /service
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
# Without development's dependencies, Node itself among them: the image has it. Nor is there a PostgreSQL: DATABASE_URL names one.
RUN npm ci --omit=dev && npm cache clean --force
COPY . .
COPY --from=build /service/dashboard/dist dashboard/dist
COPY --from=build /service/build build
COPY --from=build /service/docs/dist docs/dist
COPY --from=build /service/client/pack client/pack
# A volume that is mounted here begins as this folder is: the service does not run as root.
RUN mkdir /data && chown node:node /data
USER node
# Within the container every address is private; only what is published can be reached.
ENV HOST=0.0.0.0 PORT=3000 OPERATOR_HOST=0.0.0.0 OPERATOR_PORT=3001 DATA_DIR=/data
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Not through npm: signals reach the process itself.
CMD ["node", "--max-semi-space-size=8", "scripts/start.js"]
