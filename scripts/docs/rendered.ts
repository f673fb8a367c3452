import type { Served } from '../../src/http/documentation.ts'

/** The address of the service in what is rendered: a running service replaces it with its own, so that copied commands work. */
export const writtenUrl = 'http://localhost:3000'

type Body = Omit<Served, 'file'> & { body: string | Buffer }

/** What is served at a path: `page` to a browser, `text` to everything else; where there is one of them, it is served to both. */
export type Rendered = { path: string; page?: Omit<Body, 'type'>; text?: Body }

/** May be kept for a few minutes. */
export const textOf = (kind: 'markdown' | 'plain', body: string): Body => ({
  type: `text/${kind}; charset=utf-8`,
  headers: { 'cache-control': 'public, max-age=300' },
  body,
})
