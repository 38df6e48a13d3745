# One image per app: docker build --build-arg APP=coupon -t firstcome-coupon .
ARG NODE=node:22-bookworm-slim

FROM ${NODE} AS build
ARG APP
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json nest-cli.json ./
COPY libs libs
COPY apps apps
RUN case "$APP" in coupon|order) ;; *) echo "set --build-arg APP=coupon or APP=order" >&2; exit 1 ;; esac \
 && npx nest build "$APP" \
 && npm prune --omit=dev

FROM ${NODE}
ARG APP
ENV NODE_ENV=production PORT=3000
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
RUN ln -s "dist/apps/$APP/src/main.js" main.js
# An account of the base image that owns none of these files.
USER node
EXPOSE 3000
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that it gets the SIGTERM of a stop.
CMD ["node", "main.js"]
