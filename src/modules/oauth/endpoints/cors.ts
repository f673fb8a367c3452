import type { App } from '../../../http/app-type.ts'

/** A client in a browser may speak to these from anywhere: what it sends is in the body, never in a cookie. */
export const anyOrigin = {
  origin: '*',
  credentials: false,
  methods: 'GET, POST',
  allowedHeaders: 'authorization, content-type, mcp-protocol-version',
} as const

/** Preflights are answered by the hook that reads `cors`; the route only has to be there. */
export const allowPreflight = (scope: App, ...paths: string[]): void => {
  for (const path of paths)
    scope.options(path, { config: { internal: true, cors: anyOrigin } }, async (_request, reply) => reply.code(204).send())
}
