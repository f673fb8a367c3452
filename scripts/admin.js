// Administers the service from its sources, or from the bundle of a package, which has none.
import './installed.js'
import { existsSync } from 'node:fs'

const source = new URL('../src/operate/admin/admin.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../build/admin.js', import.meta.url).href)
