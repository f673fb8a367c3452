import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { authorizationIdOf, decide, registerClient } from '../harness/oauth.ts'
import { signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { openService } from '../harness/service.ts'

/** The Model Context Protocol's own conformance runner, against our authorization server. */
const runner = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url))
const service = await openService()
const person = await signIn(service.api)

type Run = { process: ChildProcess; output: () => string; url: Promise<URL>; exitCode: Promise<number | null> }

/** Prints the address for a browser, and waits at its own for the answer. */
const start = (options: string[]): Run => {
  const child = spawn(process.execPath, [runner, 'authorization', '--url', service.api.url, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const url = new Promise<URL>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk.toString()
      const match = /^https?:\/\/\S+\/v1\/oauth\/authorize\?\S+$/m.exec(text)
      if (match) resolve(new URL(match[0]))
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('exit', () => reject(new Error(`the runner ended without asking:\n${text}`)))
  })
  return { process: child, output: () => text, url, exitCode: new Promise((resolve) => child.on('exit', resolve)) }
}

// A public client: with a secret, the runner sends none either, to every server that knows public clients.
test('the conformance runner finds nothing wrong', async () => {
  const port = await freePort()
  const client = await registerClient(service.api, { redirect_uris: ['http://127.0.0.1/callback'] })
  const run = start(['--client-id', client.id, '--port', String(port), '--resource', `${service.api.url}/mcp`])
  try {
    const url = await run.url
    const id = authorizationIdOf(await person.api.get(url.pathname + url.search))
    const { redirect_to: back } = (await decide(person, id)).body
    expect((await fetch(back)).status).toBe(200)
    expect(await run.exitCode, run.output()).toBe(0)
    expect(run.output()).toContain('Total: 3 passed, 0 failed')
  } finally {
    run.process.kill()
  }
})
