import type { FastifyContextConfig, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { z } from 'zod'
import type { Database, Tx } from '../db/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import type { App } from './app-type.ts'
import { respondOnce } from './idempotency.ts'
import { type Cursors, type PageQuery, type PageRequest, readPage } from './pagination.ts'

type Schema = {
  params?: z.ZodType
  querystring?: z.ZodType
  body?: z.ZodType
  response: Readonly<Record<number, z.ZodType>>
  /** `summary` says what the operation does, in a line; `description` when to call it and why, and what happens then. */
  summary: string
  description: string
}
type Answering = Schema & { response: { 200: z.ZodType } }
type Paged = Answering & { querystring: z.ZodType<PageQuery>; response: { 200: z.ZodType<{ data: unknown[] }> } }

type Of<Part> = Part extends z.ZodType ? z.output<Part> : unknown
type RequestOf<S extends Schema> = FastifyRequest & { params: Of<S['params']>; query: Of<S['querystring']>; body: Of<S['body']> }
type BodyOf<S extends Answering> = z.output<S['response'][200]>
type AnswerOf<S extends Schema> = {
  [Status in keyof S['response'] & number]: { status: Status; body: z.output<S['response'][Status]>; secret?: readonly string[] }
}[keyof S['response'] & number]

type Declared<S extends Schema> = { config: FastifyContextConfig; schema: S; bodyLimit?: number }
type Read<S extends Answering> = Declared<S> & { read: (request: RequestOf<S>) => Promise<BodyOf<S>> }
type Items<S extends Paged> = readonly BodyOf<S>['data'][number][]
/** `at` is one instant for the whole page. */
type List<S extends Paged, Row> = Declared<S> & {
  /** Who owns the rows. Default: the caller's workspace, and nobody in the lists of administrators, who see all. */
  of?: (request: RequestOf<S>) => Uuid | Promise<Uuid>
  read: (page: PageRequest, request: RequestOf<S>, at: Date) => Promise<readonly Row[]>
  present: (rows: readonly Row[], request: RequestOf<S>, at: Date) => Items<S> | Promise<Items<S>>
  idOf?: (row: Row) => Uuid
}
type Write<S extends Schema, Known> = Declared<S> & {
  /** What must not be asked inside a transaction: of a chain, of an authenticator's library. */
  before?: (request: RequestOf<S>, reply: FastifyReply) => Promise<Known>
  /** Behind the caller's locks: `principal` is the caller as it is there. */
  work: (tx: Tx, request: RequestOf<S>, known: Known) => Promise<AnswerOf<S>>
  /** Other accounts that the write changes, as `respondOnce` takes them. */
  concerned?: (request: RequestOf<S>) => Promise<readonly Uuid[]>
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

const declare = (app: App, method: HTTPMethods, url: string, declared: Declared<Schema>, handler: Handler): void => {
  const { config, schema, bodyLimit } = declared
  app.withTypeProvider().route({ method, url, config, schema, ...(bodyLimit !== undefined && { bodyLimit }), handler })
}

/** The server has validated the request by the route's schema. */
const typed = <S extends Schema>(request: FastifyRequest) => request as RequestOf<S>

/** A route that answers otherwise (with a header, a page of HTML, a stream) is declared at the server itself. */
export const routesOf = (app: App, deps: { db: Database; clock: Clock; cursors: Cursors }) => {
  const write =
    (method: HTTPMethods) =>
    <S extends Schema, Known>(url: string, { before, work, concerned, ...declared }: Write<S, Known>): void =>
      declare(app, method, url, declared, async (request, reply) => {
        const known = (await before?.(typed<S>(request), reply)) as Known
        const others = concerned && (() => concerned(typed<S>(request)))
        return respondOnce(deps, request, reply, (tx) => work(tx, typed<S>(request), known), others)
      })
  const answer =
    (method: HTTPMethods) =>
    <S extends Answering>(url: string, { read, ...declared }: Read<S>): void =>
      declare(app, method, url, declared, async (request, reply) => reply.send(await read(typed<S>(request))))
  return {
    get: answer('GET'),
    /** A question with a body, or for a challenge: no record is written. */
    ask: answer('POST'),
    list: <S extends Paged, Row>(url: string, { config, of, read, idOf, present, ...declared }: List<S, Row>): void => {
      const refuses = ['invalid_cursor', ...(config.refuses ?? [])] as const
      declare(app, 'GET', url, { ...declared, config: { ...config, refuses } }, async (request, reply) => {
        const paged = typed<S>(request) as RequestOf<S> & { query: PageQuery }
        const at = deps.clock.now()
        const page = await readPage(deps, paged, {
          of: of ? await of(paged) : config.access === 'admin' ? null : paged.principal.workspace.id,
          read: (asked) => read(asked, paged, at),
          idOf: idOf ?? ((row) => (row as Row & { id: Uuid }).id),
          present: (rows) => present(rows, paged, at),
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
