import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import serveFiles from '@fastify/static'
import type { FastifyRequest } from 'fastify'
import type { App } from './app-type.ts'
import { sessionCookieOf } from './authenticate.ts'
import { readBuilt } from './documentation.ts'
import { wantsJson } from './page.ts'

const built = fileURLToPath(new URL('../../dashboard/dist', import.meta.url))

/** The paths of the dashboard's own router. The API answers at any other path. */
const pages = [
  'sign-in',
  'payments',
  'approvals',
  'approve',
  'beneficiaries',
  'policies',
  'mandates',
  'top-up',
  'history',
  'statements',
  'spending',
  'agents',
  'developers',
  'account',
  'workspace',
  'invitation',
  'consent',
  'device',
  'reconciliation',
]

const yearSeconds = 31_536_000
const hasHash = /-[\w-]{8}\.(js|css|woff2)(\.\w+)?$/

/** A program that forgot /v1 must get an error, not a page. */
const isProgram = (request: FastifyRequest): boolean => request.headers.authorization !== undefined || wantsJson(request)

/** Every page shows which providers are simulated, so that simulated money is not mistaken for real. */
type Simulated = { rails: boolean; identity: boolean }

/** The page contains these facts, so that a browser without a session need not ask who is signed in. */
const withFacts = (page: string, hasSession: boolean, { rails, identity }: Simulated): string => {
  const facts = [
    ...(hasSession ? [] : ['data-session="none"']),
    ...(rails ? ['data-rails="sandbox"'] : []),
    ...(identity ? ['data-identity="sandbox"'] : []),
  ]
  return page.replace('<html ', `<html ${facts.map((fact) => `${fact} `).join('')}`)
}

/** The dashboard's build. Browsers keep files whose name has their content's hash. */
export const registerDashboard = async (app: App, simulated: Simulated): Promise<void> => {
  const declared = { config: { internal: true, cors: false as const }, schema: { hide: true } }
  for (const url of ['/', ...pages.flatMap((page) => [`/${page}`, `/${page}/*`])]) {
    app.get(url, declared, async (request, reply) => {
      if (isProgram(request)) return reply.callNotFound()
      const page = await readBuilt(join(built, 'index.html'), 'The dashboard is not built')
      // People make decisions on some of these pages, so none may be cached.
      reply.header('cache-control', 'no-store').type('text/html; charset=utf-8')
      return reply.send(withFacts(page.toString(), Boolean(sessionCookieOf(request)), simulated))
    })
  }
  for (const file of ['icon.svg', 'icon-waiting.svg', 'theme.js', 'push-worker.js']) {
    app.get(`/${file}`, declared, async (_request, reply) => reply.header('cache-control', 'no-cache').sendFile(file, built))
  }
  await app.register(serveFiles, {
    root: join(built, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      reply.header('cache-control', hasHash.test(path) ? `public, max-age=${yearSeconds}, immutable` : 'no-cache')
    },
  })
}
