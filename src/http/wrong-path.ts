import type { FastifyRequest } from 'fastify'
import { closest } from '../lib/closest.ts'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'

type Known = { method: string; pattern: RegExp }

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const patternOf = (url: string): RegExp => {
  const parts = url.split('/').map((part) => (part === '*' ? '.*' : part.startsWith(':') ? '[^/]+' : escapeRegExp(part)))
  return new RegExp(`^${parts.join('/')}$`)
}

const plural = (noun: string): string => (noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`)

/** The path that was probably meant: with our prefix, without a slash at its end, in lower case, its first noun in the plural. */
const candidatesFor = (path: string): string[] => {
  const tidy = `/${path.split('/').filter(Boolean).join('/')}`
  const lower = tidy.toLowerCase()
  const bare = lower.replace(/^\/(api\/)?(v\d+\/)?/, '/').replace(/^\/[a-z_-]+/, (noun) => noun.replaceAll('_', '-'))
  const many = bare.replace(/^\/([a-z-]+)/, (_, noun: string) => `/${plural(noun)}`)
  return [tidy, lower, `/v1${tidy}`, `/v1${bare}`, `/v1${many}`].filter((candidate) => candidate !== path)
}

/** Tells what is wrong with a request that no route answers: its method, or its path. It learns the routes as they are registered. */
export const createPathJudge = (app: App): ((request: FastifyRequest) => Refusal) => {
  const known: Known[] = []
  const literal: string[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    // Pages are for browsers, and preflights are answered for every path.
    if (config?.internal || url === '*' || url === '/*') return
    if (url.startsWith('/v1/') && !url.includes(':')) literal.push(url)
    for (const one of [method].flat()) if (one !== 'OPTIONS') known.push({ method: one, pattern: patternOf(url) })
  })
  const methodsAt = (path: string): string[] => [
    ...new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
  ]
  return (request) => {
    const path = request.url.split('?')[0] ?? ''
    const methods = methodsAt(path)
    // The path and the method are right, but the thing does not exist, such as a missing file.
    if (methods.length > 0 && !methods.includes(request.method)) {
      const message = `${request.method} is not a method of this path; it supports ${methods.join(', ')}.`
      return new Refusal('method_not_allowed', { message, headers: { allow: methods.join(', ') } })
    }
    const candidates = candidatesFor(path)
    const meant = candidates.find((candidate) => methodsAt(candidate).length > 0) ?? closest(candidates.at(-1) ?? path, literal)
    const hint = meant === undefined ? 'GET /openapi.json lists all paths.' : `Did you mean ${meant}?`
    return new Refusal('not_found', { message: `There is no such path. ${hint}` })
  }
}
