import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Payments } from '#client'
import { signInWithWallet } from '#client/wallet'

// Follows the quickstart on a fresh clone of the last commit, in each language, and writes down the output. A wallet takes the part of the person of
// the guide (who creates the key and approves) over the same API; everything else runs as the guide says.

const root = fileURLToPath(new URL('..', import.meta.url))
const page = join(root, 'docs/quickstart-run.md')
const folder = await mkdtemp(join(tmpdir(), 'quickstart-'))
const clone = join(folder, 'payments-service')
const lines: string[] = []
const startedAt = performance.now()

const note = (text: string) => {
  const seconds = String(Math.round((performance.now() - startedAt) / 1000)).padStart(4)
  lines.push(`${seconds} s  ${text}`)
  console.log(lines.at(-1))
}

/** Runs a program to its end and returns its output. */
const run = async (
  command: string,
  args: string[],
  options: SpawnOptions,
  onOutput: (text: string) => void = () => undefined,
) => {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      onOutput(text)
    })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${text}`)
  return text
}

const programs = [
  { language: 'sh', file: 'pay.sh', command: ['bash', 'pay.sh'] },
  { language: 'js', file: 'pay.mjs', command: ['node', 'pay.mjs'] },
  { language: 'python', file: 'pay.py', command: ['python3', '-u', 'pay.py'] },
] as const

const codeOf = (guide: string, language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code).join('')

/** The person of the guide: signs in, creates the key with its threshold, approves what needs approval. */
const newPerson = async (url: string) => {
  const { client } = await signInWithWallet({ baseUrl: url }, privateKeyToAccount(generatePrivateKey()))
  const { key } = await client.apiKeys.create({
    name: 'My agent',
    spending_controls: { approval_threshold_minor: '20000', new_payees: 'allow' },
  })
  if (key === undefined) throw new Error('the key was not shown')
  return { client, key }
}

const approveWhenRequired = async (client: Payments, stop: AbortSignal) => {
  while (!stop.aborted) {
    for await (const { id } of client.approvals.list({ status: 'pending' })) {
      await client.approvals.decide(id, { decision: 'approve' })
      note('(a person approves)')
    }
    await wait(500)
  }
}

const port = process.env.PORT ?? '3000'
const start = async () => {
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: port, OPERATOR_PORT: '0', LOG_LEVEL: 'warn' }
  const server = spawn('npm', ['start'], { cwd: clone, env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  server.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const ended = once(server, 'close')
  while (!/is ready after/.test(output)) {
    if (server.exitCode !== null) throw new Error(`the service did not start:\n${output}`)
    await wait(100)
  }
  return {
    stop: async () => {
      server.kill('SIGTERM')
      await ended
    },
  }
}

try {
  note('$ git clone … payments-service && cd payments-service')
  await run('git', ['clone', '--quiet', '--local', root, clone], {})
  note('$ npm ci')
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: clone })
  note('$ npm start')
  const server = await start()
  try {
    const url = `http://localhost:${port}`
    note(`The payments service is ready at ${url}`)
    const guide = await (await fetch(`${url}/docs/guides/quickstart.md`)).text()
    // As the guide says: an empty folder, the client by npm, and the file for Python.
    const place = join(folder, 'integrator')
    await mkdir(place)
    note(`$ npm install ${url}/client.tgz`)
    await run('npm', ['install', '--no-audit', '--no-fund', `${url}/client.tgz`], { cwd: place })
    note(`$ curl -O ${url}/payments.py`)
    await writeFile(join(place, 'payments.py'), await (await fetch(`${url}/payments.py`)).text())
    for (const { language, file, command } of programs) {
      await writeFile(join(place, file), codeOf(guide, language))
      const { client, key } = await newPerson(url)
      const stop = new AbortController()
      const approving = approveWhenRequired(client, stop.signal)
      lines.push('')
      note(`$ ${command.join(' ')}`)
      let printed = 0
      await run(command[0], command.slice(1), { cwd: place, env: { ...process.env, PAYMENTS_API_KEY: key } }, (text) => {
        const whole = text.split('\n').slice(0, -1)
        for (const line of whole.slice(printed)) note(line)
        printed = whole.length
      })
      stop.abort()
      await approving
    }
    lines.push('')
    note('done')
  } finally {
    await server.stop()
  }
  const ids = lines.join('\n').replace(/\b(apr|pay)_[0-9a-z]{26}/g, '$1_…')
  await writeFile(
    page,
    `# A run of the quickstart

A run of [the quickstart](guides/quickstart.md) on a fresh clone, in each language, with the seconds since its start. Written by
\`npm run quickstart:record\`, which clones the committed files, installs, starts the service and runs the guide's programs. A program with a
wallet takes the part of the person who creates the key and approves. This run was with Node ${process.versions.node} on ${process.platform} ${process.arch},
on a machine that other work was using.

\`\`\`text
${ids}
\`\`\`
`,
  )
} finally {
  await rm(folder, { recursive: true, force: true })
}
