import type { FastifyContextConfig, FastifyReply, FastifyRequest, HTTPMethods, RouteHandlerMethod } from 'fastify'
import type { z } from 'zod'
import type { Database, Tx } from '../db/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import type { App, Handler } from './app-type.ts'
import { respondOnce } from './idempotency.ts'
import { type Cursors, type PageQuery, type PageRequest, readPage } from './pagination.ts'

type Responses = Readonly<Record<number, z.ZodType>>
type Answering = Responses & { 200: z.ZodType }
type Paged = Responses & { 200: z.ZodType<{ data: unknown[] }> }

/** P, Q and B are the schemas of path, query and body. R: the schemas of the responses. */
type Declared<P, Q, B, R> = Omit<FastifyContextConfig, 'operation'> & {
  params?: P
  querystring?: Q
  body?: B
  response: R
  /** Content types of a body that may be something other than JSON. */
  consumes?: string[]
  bodyLimit?: number
  /** False if a HEAD request would never end. */
  exposeHeadRoute?: false
  /** `summary`: the operation's effect in one line. `description`: when and why to call it, and what happens next. */
  summary?: string
  description?: string
  /** One of our pages, which is omitted from the API document. */
  hide?: true
}
type RequestOf<P, Q, B> = FastifyRequest & { params: z.output<P>; query: z.output<Q>; body: z.output<B> }
type AnswerOf<R extends Responses> = {
  [Status in keyof R & number]: { status: Status; body: z.output<R[Status]>; secret?: readonly string[] }
}[keyof R & number]

type Read<P, Q, B, R extends Answering> = Declared<P, Q, B, R> & {
  /** A header of successful responses only. */
  cacheControl?: 'no-store' | 'public, max-age=300'
  read: (request: RequestOf<P, Q, B>) => Promise<z.output<R[200]>>
}
type Items<R extends Paged> = readonly z.output<R[200]>['data'][number][]
/** `at`: a single instant for the whole page. */
type List<P, Q, R extends Paged, Row> = Declared<P, Q, None, R> & {
  /** The owner of the rows. Default: the caller's workspace, or no owner in lists for administrators, who see all rows. */
  owner?: (request: RequestOf<P, Q, None>) => Uuid | Promise<Uuid>
  read: (page: PageRequest, request: RequestOf<P, Q, None>, at: Date) => Promise<readonly Row[]>
  present: (rows: readonly Row[], request: RequestOf<P, Q, None>, at: Date) => Items<R> | Promise<Items<R>>
  idOf?: (row: Row) => Uuid
}
type Write<P, Q, B, R extends Responses, Known> = Declared<P, Q, B, R> & {
  /** Work outside any transaction, such as queries to a chain or calls to an authenticator's library. */
  before?: (request: RequestOf<P, Q, B>, reply: FastifyReply) => Promise<Known>
  /** Runs under the caller's locks. `principal` is the caller as read under these locks. */
  work: (tx: Tx, request: RequestOf<P, Q, B>, known: Known) => Promise<AnswerOf<R>>
  /** Other accounts that the write changes, for `respondOnce`. */
  otherAccounts?: (request: RequestOf<P, Q, B>) => Promise<readonly Uuid[]>
}

/** Responds in another way, for example with a header, an HTML page, a file or a stream. */
type Handled<P, Q, B, R> = Declared<P, Q, B, R> & {
  handler: Handler<{ params: P; querystring: Q; body: B; response: R }>
}

type Zod = z.ZodType
type None = z.ZodUnknown

/** The access of each route that declares none. */
type Default = Pick<FastifyContextConfig, 'access'>

export const routesOf = (app: App, deps: { db: Database; clock: Clock; cursors: Cursors }, byDefault: Default = {}) => {
  const declare = (
    method: HTTPMethods,
    url: string,
    operation: string,
    declared: Declared<Zod, Zod, Zod, Readonly<Record<number, unknown>>>,
    handler: RouteHandlerMethod,
  ): void => {
    const { summary, description, hide, params, querystring, body, response, consumes, bodyLimit, exposeHeadRoute, ...rules } =
      declared
    const config = { operation, ...byDefault, ...rules }
    const texts = { ...(summary && { summary, description }), ...(hide && { hide }), ...(consumes && { consumes }) }
    const reads = { ...(params && { params }), ...(querystring && { querystring }), ...(body && { body }) }
    const options = { ...(bodyLimit && { bodyLimit }), ...(exposeHeadRoute === false && { exposeHeadRoute }) }
    app.route({ method, url, config, schema: { ...texts, ...reads, response }, ...options, handler })
  }
  /** Safe, because the server has validated the request against the route's schema. */
  const typed = <P, Q, B>(request: FastifyRequest) => request as RequestOf<P, Q, B>
  const write =
    (method: HTTPMethods) =>
    <R extends Responses, Known, P extends Zod = None, Q extends Zod = None, B extends Zod = None>(
      url: string,
      operation: string,
      { before, work, otherAccounts, ...declared }: Write<P, Q, B, R, Known>,
    ): void =>
      declare(method, url, operation, declared, async (untyped, reply) => {
        const request = typed<P, Q, B>(untyped)
        const known = (await before?.(request, reply)) as Known
        const others = otherAccounts && (() => otherAccounts(request))
        return respondOnce(deps, request, reply, (tx) => work(tx, request, known), others)
      })
  const answer =
    (method: HTTPMethods) =>
    <R extends Answering, P extends Zod = None, Q extends Zod = None, B extends Zod = None>(
      url: string,
      operation: string,
      { read, cacheControl, ...declared }: Read<P, Q, B, R>,
    ): void =>
      declare(method, url, operation, declared, async (request, reply) => {
        const answer = await read(typed<P, Q, B>(request))
        if (cacheControl) reply.header('cache-control', cacheControl)
        return reply.send(answer)
      })
  return {
    handle: <R extends Readonly<Record<number, unknown>>, P extends Zod = None, Q extends Zod = None, B extends Zod = None>(
      method: HTTPMethods,
      url: string,
      operation: string,
      { handler, ...declared }: Handled<P, Q, B, R>,
    ): void => declare(method, url, operation, declared, handler as RouteHandlerMethod),
    get: answer('GET'),
    /** A query with a body, or a request for a challenge. Writes no record. */
    ask: answer('POST'),
    list: <Q extends z.ZodType<PageQuery>, R extends Paged, Row, P extends Zod = None>(
      url: string,
      operation: string,
      { owner, read, idOf, present, ...declared }: List<P, Q, R, Row>,
    ): void => {
      const isForAdmins = (declared.access ?? byDefault.access) === 'admin'
      const refuses = ['invalid_cursor', ...(declared.refuses ?? [])] as const
      declare('GET', url, operation, { ...declared, refuses }, async (untyped, reply) => {
        const request = typed<P, Q, None>(untyped)
        const at = deps.clock.now()
        const page = await readPage(deps, request, {
          owner: owner ? await owner(request) : isForAdmins ? null : request.principal.workspace.id,
          read: (asked) => read(asked, request, at),
          idOf: idOf ?? ((row) => (row as Row & { id: Uuid }).id),
          present: (rows) => present(rows, request, at),
        })
        return reply.send(page)
      })
    },
    post: write('POST'),
    put: write('PUT'),
    patch: write('PATCH'),
    delete: write('DELETE'),
  }
}
