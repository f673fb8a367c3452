import { writeFileSync } from 'node:fs'
import { renderTable } from './authorization-table.ts'
import { describeService } from './describe-service.ts'

// Rewrites docs/authorization.md: read the difference before you commit it.
const { routes } = await describeService()
writeFileSync(new URL('../docs/authorization.md', import.meta.url), renderTable(routes))
console.log(`docs/authorization.md: ${routes.length} routes`)
