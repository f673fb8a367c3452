import type { components, paths } from './api-types.generated.ts'

export type Schemas = components['schemas']
export type Path = keyof paths
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
/** Methods of a path. */
export type MethodOf<P extends Path> = { [M in Method]: paths[P][M] extends { responses: unknown } ? M : never }[Method]

type Media = 'application/json'
type JsonOf<Response> = Response extends { content: { [_ in Media]: infer Body } } ? Body : undefined
type ResponsesOf<Operation> = Operation extends { responses: infer Responses } ? Responses : never

/** Body of a route's successful response. */
export type Answer<P extends Path, M extends MethodOf<P>> = JsonOf<
  ResponsesOf<paths[P][M]>[keyof ResponsesOf<paths[P][M]> & (200 | 201 | 202 | 204)]
>

/** Request body of a route. */
export type Body<P extends Path, M extends MethodOf<P>> = paths[P][M] extends {
  requestBody?: { content: { [_ in Media]: infer Input } }
}
  ? NonNullable<Input>
  : undefined

export type Query<P extends Path, M extends MethodOf<P>> = paths[P][M] extends { parameters: { query?: infer Q } }
  ? NonNullable<Q>
  : never

/** Items of a list. */
export type Item<P extends Path> =
  'get' extends MethodOf<P>
    ? Answer<P, 'get' & MethodOf<P>> extends { data: (infer T)[]; next_cursor: string | null }
      ? T
      : never
    : never
