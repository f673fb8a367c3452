import type { FastifyRequest } from 'fastify'
import { didYouMean } from '../lib/closest.ts'
import { invalidFields } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { atOnce } from './at-once.ts'

const namesIn = (schema: unknown): string[] => {
  const shape = (schema as { shape?: unknown } | undefined)?.shape
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : []
}

const refuseUnknown = (request: FastifyRequest): void => {
  const { config, schema } = request.routeOptions
  if (request.is404 || config.internal || config.query === 'lenient') return
  const names = Object.keys(request.query as object)
  if (names.length === 0) return
  const known = namesIn(schema?.querystring)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw invalidFields(...unknown.map((path) => ({ path, message: `is not a known query parameter${didYouMean(path, known)}` })))
}

/** Ignoring a filter would answer as if everything matched, so an unknown parameter is refused like an unknown field. */
export const registerQueryGuard = (app: App): void => {
  app.addHook('preValidation', atOnce(refuseUnknown))
}
