import type { components, paths } from '../../../client/src/api.ts'

export type { paths }
export type Schemas = components['schemas']

type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never
type ResponsesOf<Operation> = Operation extends { responses: infer Responses } ? Responses : never

/** The body of a route's successful answer: `Answer<'/v1/payments', 'get'>`. */
export type Answer<Path extends keyof paths, Method extends keyof paths[Path]> = JsonOf<
  ResponsesOf<paths[Path][Method]>[keyof ResponsesOf<paths[Path][Method]> & (200 | 201 | 202)]
>

/** The body of a route's request. */
export type Body<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: { content: { 'application/json': infer Input } }
}
  ? NonNullable<Input>
  : never
