import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import serveFiles from '@fastify/static'
import type { FastifyRequest } from 'fastify'
import type { Db } from '../db/client.ts'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { sessionCookieOf } from './authenticate.ts'
import { isHashed, readKeptFile } from './dashboard-files.ts'
import { immutable, readBuilt } from './downloads.ts'
import { wantsJson } from './page.ts'

const built = fileURLToPath(new URL('../../dashboard/dist', import.meta.url))
export const dashboardAssets = join(built, 'assets')

/** Paths that the dashboard's own router handles. The API handles all other paths. */
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

const publicFiles = [
  'icon.svg',
  'icon-waiting.svg',
  'icon-192.png',
  'icon-512.png',
  'icon-maskable-512.png',
  'apple-touch-icon.png',
  'manifest.webmanifest',
  'theme.js',
  'push-worker.js',
]

/** A program that omits /v1 must get an error instead of a page. */
const isProgram = (request: FastifyRequest): boolean => request.headers.authorization !== undefined || wantsJson(request)

/** Each page shows which providers are simulated, so that simulated money is not taken for real. `fees`: payments have fees. */
type PageFacts = { rails: boolean; identity: boolean; fees: boolean }

/** Embeds these facts in the page, so that a browser without a session need not ask whether a person is signed in. */
const withFacts = (page: string, hasSession: boolean, { rails, identity, fees }: PageFacts): string => {
  const facts = [
    ...(hasSession ? [] : ['data-session="none"']),
    ...(rails ? ['data-rails="sandbox"'] : []),
    ...(identity ? ['data-identity="sandbox"'] : []),
    ...(fees ? ['data-fees="charged"'] : []),
  ]
  return page.replace('<html ', `<html ${facts.map((fact) => `${fact} `).join('')}`)
}

/** Serves the built dashboard. Browsers cache files whose names include the hash of their content. */
export const registerDashboard = async (app: App, db: Db, facts: PageFacts): Promise<void> => {
  const declared = { config: { internal: true, cors: false as const }, schema: { hide: true } }
  for (const url of ['/', ...pages.flatMap((page) => [`/${page}`, `/${page}/*`])]) {
    app.get(url, declared, async (request, reply) => {
      if (isProgram(request)) return reply.callNotFound()
      const page = await readBuilt(join(built, 'index.html'), 'The dashboard is not built')
      // Not cached, because people make decisions on some of these pages.
      reply.header('cache-control', 'no-store').type('text/html; charset=utf-8')
      return reply.send(withFacts(page.toString(), Boolean(sessionCookieOf(request)), facts))
    })
  }
  await app.register(serveFiles, { root: built, serve: false, cacheControl: false })
  for (const file of publicFiles) {
    app.get(`/${file}`, declared, async (_request, reply) => reply.header('cache-control', 'no-cache').sendFile(file))
  }
  await app.register(
    async (assets) => {
      assets.setNotFoundHandler(async (request, reply) => {
        const kept = await readKeptFile(db, basename(new URL(request.url, 'http://service').pathname))
        if (!kept) throw new Refusal('not_found')
        return reply.header('cache-control', immutable).type(kept.type).send(kept.content)
      })
      await assets.register(serveFiles, {
        root: dashboardAssets,
        decorateReply: false,
        preCompressed: true,
        cacheControl: false,
        setHeaders: (reply, path) => {
          reply.header('cache-control', isHashed(path.replace(/\.(br|gz)$/, '')) ? immutable : 'no-cache')
        },
      })
    },
    { prefix: '/assets/' },
  )
}
