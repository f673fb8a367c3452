import type { FastifyRequest } from 'fastify'

const weightOf = (parameters: readonly string[]): number => {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return weight === undefined ? 1 : Number(weight.slice('q='.length))
}

type Asking = Pick<FastifyRequest, 'headers'>

const weightsOf = (header: string | undefined): ReadonlyMap<string, number> =>
  new Map(
    (header ?? '').split(',').map((range) => {
      const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      return [name, weightOf(parameters)]
    }),
  )

const weightIn = (weights: ReadonlyMap<string, number>, type: string): number =>
  weights.get(type) ?? weights.get(type.replace(/\/.*/, '/*')) ?? weights.get('*/*') ?? 0

/** Whether the `Accept` header includes this media type and does not prefer the other one (RFC 9110, 12.5.1). */
export const prefers = (request: Asking, type: string, other: string): boolean => {
  const weights = weightsOf(request.headers.accept)
  const own = weights.get(type) ?? 0
  return own > 0 && own >= weightIn(weights, other)
}

/** Whether the client accepts this media type. Without the header it accepts all types. */
export const accepts = (request: Asking, type: string): boolean =>
  (request.headers.accept ?? '').trim() === '' || weightIn(weightsOf(request.headers.accept), type) > 0

/** Whether the `Accept-Encoding` header names Brotli (RFC 9110, 12.5.3). */
export const acceptsBrotli = ({ headers }: Asking): boolean =>
  (weightsOf([headers['accept-encoding']].flat().join()).get('br') ?? 0) > 0
