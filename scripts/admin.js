// Runs the administrator's commands from the bundle, which `npm run admin` keeps up to date, or from the sources if there is no
// bundle. Loading the sources takes 350 MB.
import './installed.js'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

// Lets the heap grow by only a tenth between collections. Otherwise a command that reads every row would retain 100 MB of
// garbage. With 40,000 payments, this setting takes 10 to 30 % more CPU time, and `--optimize-for-size` 70 % more.
setFlagsFromString('--heap-growing-percent=10')

const bundle = new URL('../build/admin.js', import.meta.url)

if (existsSync(bundle)) {
  // Shared with the service (scripts/start.js).
  module.enableCompileCache(fileURLToPath(new URL('../build/compiled', import.meta.url)))
  await import(bundle.href)
} else {
  await import('../src/operate/admin/admin.ts')
}
