import type { App } from '../../../http/app-type.ts'

/** A client in a browser may call these from any origin: its credentials are in the body, never in a cookie. */
export const anyOrigin = {
  origin: '*',
  credentials: false,
  methods: 'GET, POST',
  allowedHeaders: 'authorization, content-type, mcp-protocol-version',
} as const

/** A hook that reads `cors` answers preflights; the route only has to exist. */
export const allowPreflight = (scope: App, ...paths: string[]): void => {
  for (const path of paths)
    scope.options(path, { config: { internal: true, cors: anyOrigin } }, async (_request, reply) => reply.code(204).send())
}
