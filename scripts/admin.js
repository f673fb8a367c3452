// Runs the administrator's commands from the bundle, which `npm run admin` keeps current, or from the sources if there is none:
// loading those takes 350 MB.
import './installed.js'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

// The heap may grow by a tenth between collections: a command that reads every row would otherwise keep 100 MB of garbage. With 40,000
// payments that takes 10 to 30 % more processor time, and `--optimize-for-size` 70 %.
setFlagsFromString('--heap-growing-percent=10')

const bundle = new URL('../build/admin.js', import.meta.url)

if (existsSync(bundle)) {
  // Shared with the service (scripts/start.js).
  module.enableCompileCache(fileURLToPath(new URL('../build/compiled', import.meta.url)))
  await import(bundle.href)
} else {
  await import('../src/operate/admin/admin.ts')
}
