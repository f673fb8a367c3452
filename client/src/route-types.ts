import type { components, paths } from './api-types.generated.ts'

export type Schemas = components['schemas']
export type Path = keyof paths
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
/** Methods of a path. */
export type MethodOf<P extends Path> = keyof paths[P] & Method

type Media = 'application/json'
type JsonOf<Response> = Response extends { content: { [_ in Media]: infer Body } } ? Body : undefined
type ResponsesOf<Operation> = Operation extends { responses: infer Responses } ? Responses : never

/** Body of a route's successful response. */
export type Answer<P extends Path, M extends MethodOf<P>> = JsonOf<
  ResponsesOf<paths[P][M]>[keyof ResponsesOf<paths[P][M]> & (200 | 201 | 202 | 204)]
>

/** An entry of an operation. Never if it has none, so that a call cannot pass one. */
type EntryOf<Operation, Name extends string> = Name extends keyof Operation ? NonNullable<Operation[Name]> : never
type BodyIn<Entry> = Entry extends { content: { [_ in Media]: infer Input } } ? Input : never

/** Request body of a route. */
export type Body<P extends Path, M extends MethodOf<P>> = BodyIn<EntryOf<paths[P][M], 'requestBody'>>

export type Query<P extends Path, M extends MethodOf<P>> = EntryOf<paths[P][M], 'query'>

/** Items of a list. */
export type Item<P extends Path> =
  'get' extends MethodOf<P>
    ? Answer<P, 'get' & MethodOf<P>> extends { data: (infer T)[]; next_cursor: string | null }
      ? T
      : never
    : never
