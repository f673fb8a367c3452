import { parse } from 'node:querystring'
import type { FastifyRequest } from 'fastify'
import { didYouMean } from '../lib/closest.ts'
import { refuseFields } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { atOnce } from './at-once.ts'

type Values = Record<string, unknown>

const bracketed = /^([^[\]]+)\[([^[\]]+)\]$/

/**
 * A query string's parameters; `metadata[invoice]=17` is `{metadata: {invoice: '17'}}`. Objects without a prototype, because callers choose
 * the names.
 */
export const parseQuery = (text: string): Values => {
  const values = parse(text) as Values
  if (!text.includes('[') && !/%5b/i.test(text)) return values
  const folded = Object.create(null) as Values
  for (const [name, value] of Object.entries(values)) {
    const [, base, key] = bracketed.exec(name) ?? []
    if (base === undefined || key === undefined) {
      folded[name] = value
      continue
    }
    const inner = folded[base]
    const object =
      typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Values) : (Object.create(null) as Values)
    object[key] = value
    folded[base] = object
  }
  return folded
}

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
  throw refuseFields(unknown.map((path) => ({ path, message: `is not a known query parameter${didYouMean(path, known)}` })))
}

/** Ignoring a filter would answer as if everything matched, so an unknown parameter is refused like an unknown field. */
export const registerQueryGuard = (app: App): void => {
  app.addHook('preValidation', atOnce(refuseUnknown))
}
