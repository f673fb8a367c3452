import { describeService } from './describe-service.ts'

// Prints the API's routes as the service builds them.
const { routes } = await describeService()

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
