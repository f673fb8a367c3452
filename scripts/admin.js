// Runs the administrator's commands from the sources, or from the bundle in a package.
import './installed.js'
import { existsSync } from 'node:fs'

const source = new URL('../src/operate/admin/admin.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../build/admin.js', import.meta.url).href)
