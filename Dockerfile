# The image is the package of a release (scripts/package.ts), unpacked. The database is another container's (docker-compose.yml).
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /service
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
RUN npm ci
COPY . .
# git rev-parse HEAD: a build between two releases names it in its version.
ARG SOURCE_COMMIT
RUN SOURCE_COMMIT=$SOURCE_COMMIT npm run package -- /package && mkdir /release && tar -xzf /package/*.tar.gz -C /release --strip-components=1

FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
ENV NODE_ENV=production
WORKDIR /service
COPY --from=build /release ./
# A volume that is mounted here begins as this folder is: the service does not run as root.
RUN mkdir /data && chown node:node /data
USER node
# Within the container every address is private; only what is published can be reached.
ENV HOST=0.0.0.0 PORT=3000 OPERATOR_HOST=0.0.0.0 OPERATOR_PORT=3001 DATA_DIR=/data
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Not through npm: signals reach the process itself.
CMD ["node", "--max-semi-space-size=8", "scripts/start.js"]
