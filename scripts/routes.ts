import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { createService } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import { systemClock } from '../src/lib/clock.ts'

// Prints the API's table as the service itself builds it. Nothing is started, so nothing needs to be there.
const key = `routes:${randomBytes(32).toString('base64')}`
const { routes } = await createService({
  config: loadConfig({ NODE_ENV: 'test', ENCRYPTION_KEYS: key, TOKEN_SECRETS: key }),
  databaseUrl: 'postgresql://localhost/nothing-connects-here',
  clock: systemClock,
  logger: pino({ level: 'silent' }),
  rails: { payout: {}, collection: null, gates: {} },
})

const heads = ['METHOD', 'PATH', 'WHO', 'IDEMPOTENT', 'OPERATION']
const rows = routes.map((route) => [route.method, route.path, route.access, route.idempotent ? 'by key' : '', route.operation])
const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)))
for (const row of [heads, ...rows])
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
console.log(`\n${rows.length} operations`)
process.exit(0)
