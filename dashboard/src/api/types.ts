import type { components, paths } from '../../../client/src/api.ts'

export type { paths }
export type Schemas = components['schemas']

type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never
type ResponsesOf<Operation> = Operation extends { responses: infer Responses } ? Responses : never

/** What a route answers when it did what was asked: `Answer<'/v1/payments', 'get'>`. */
export type Answer<Path extends keyof paths, Method extends keyof paths[Path]> = JsonOf<
  ResponsesOf<paths[Path][Method]>[keyof ResponsesOf<paths[Path][Method]> & (200 | 201 | 202)]
>

/** What a route takes. */
export type Body<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: { content: { 'application/json': infer Input } }
}
  ? NonNullable<Input>
  : never
