import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { pino } from 'pino'
import { createService } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import { systemClock } from '../src/lib/clock.ts'
import { renderTable } from '../test/authorization/table.ts'

// Writes docs/authorization.md anew: look at what git says has changed before you commit it.
const key = `authorization:${randomBytes(32).toString('base64')}`
const { routes } = await createService({
  config: loadConfig({ NODE_ENV: 'test', ENCRYPTION_KEYS: key, TOKEN_SECRETS: key }),
  databaseUrl: 'postgresql://localhost/nothing-connects-here',
  clock: systemClock,
  logger: pino({ level: 'silent' }),
  rails: { payout: {}, collection: null, gates: {} },
})
writeFileSync(new URL('../docs/authorization.md', import.meta.url), renderTable(routes))
console.log(`docs/authorization.md: ${routes.length} routes`)
process.exit(0)
