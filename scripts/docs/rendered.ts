import type { Served } from '../../src/http/documentation.ts'

/** The service's URL in rendered texts. A running service replaces it with its own, so that copied commands work. */
export const writtenUrl = 'http://localhost:3000'

type Body = Omit<Served, 'file'> & { body: string | Buffer }

/** The content at a path: `page` for browsers, `text` for other clients. If only one exists, all clients get it. */
export type Rendered = { path: string; page?: Omit<Body, 'type'>; text?: Body }

/** Cacheable for five minutes. */
export const textOf = (kind: 'markdown' | 'plain', body: string): Body => ({
  type: `text/${kind}; charset=utf-8`,
  headers: { 'cache-control': 'public, max-age=300' },
  body,
})
