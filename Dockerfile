# The image of Stint: docker build -t stint .
# Its state is in /data; job files are expected in /app, where they can import 'stint' and its dependencies.
ARG NODE_VERSION=24.21.0

# Compiles the package with all tools.
FROM node:${NODE_VERSION}-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY tools/node tools/node
RUN npm ci --ignore-scripts
COPY . .
RUN node tools/package/main.ts /package

# Installs the versions of the lock file, without tools, and without the Node that the repository pins.
FROM node:${NODE_VERSION}-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY tools/node tools/node
RUN npm ci --ignore-scripts --omit=dev --omit=optional --workspaces=false
RUN rm -rf tools package-lock.json .npmrc package.json node_modules/@stint node_modules/.package-lock.json

FROM node:${NODE_VERSION}-slim
ENV NODE_ENV=production
COPY --from=dependencies /app /app
COPY --from=build /package /app/node_modules/stint
RUN mkdir /data && chown node:node /data
WORKDIR /data
USER node
VOLUME /data
EXPOSE 7070
# For stint serve. A worker answers on the address of --health instead, and needs a check of its own.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7070/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself receives SIGTERM: stint stops claiming and waits up to 30 s for running handlers.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--max-semi-space-size=16", "/app/node_modules/stint/bin/stint.js"]
CMD ["serve", "--bedrock", "off"]
