import type { FastifyRequest } from 'fastify'

const weightOf = (parameters: readonly string[]): number => {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return weight === undefined ? 1 : Number(weight.slice('q='.length))
}

/** Whether the `Accept` header names this media type, and weighs the other one that there is no higher (RFC 9110, 12.5.1). */
export const asksFor = ({ headers }: Pick<FastifyRequest, 'headers'>, type: string, other: string): boolean => {
  const weights = new Map(
    (headers.accept ?? '').split(',').map((range) => {
      const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      return [name, weightOf(parameters)]
    }),
  )
  const own = weights.get(type) ?? 0
  return own > 0 && own >= (weights.get(other) ?? weights.get(other.replace(/\/.*/, '/*')) ?? weights.get('*/*') ?? 0)
}
