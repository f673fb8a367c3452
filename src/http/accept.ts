import type { FastifyRequest } from 'fastify'

const weightOf = (parameters: readonly string[]): number => {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return weight === undefined ? 1 : Number(weight.slice('q='.length))
}

/** Whether the `Accept` header names this media type, and none that it prefers (RFC 9110, 12.5.1). */
export const asksFor = ({ headers }: Pick<FastifyRequest, 'headers'>, type: string): boolean => {
  const ranges = (headers.accept ?? '').split(',').map((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return { name, weight: weightOf(parameters) }
  })
  const named = ranges.find(({ name }) => name === type)
  return named !== undefined && named.weight > 0 && ranges.every(({ weight }) => weight <= named.weight)
}
