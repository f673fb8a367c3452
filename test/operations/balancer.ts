import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { trust } from '../harness/client.ts'
import { freePort } from '../harness/ports.ts'
import { startRoundRobin } from '../harness/round-robin.ts'
import type { Place, Watch } from './pair.ts'

export const deploy = (path: string) => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url))

export type Balancer = Watch & {
  url: string
  /** The address for providers' deliveries. Null if this balancer has none. */
  callbacks: string | null
  close: () => Promise<void>
}

/** Whether Debian's program is installed. */
export const isInstalled = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** A certificate for this machine by an authority that only this process trusts. */
export const makeCertificate = (folder: string) => {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,DNS:*.pay.example,IP:127.0.0.1']
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate, ...subject]
  execFileSync('openssl', made, { stdio: 'ignore' })
  trust(readFileSync(certificate, 'utf8'))
  return { key, certificate }
}

export const run = (file: string, args: string[], env: Record<string, string>) => {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const watchers = new Set<() => void>()
  const hear = (chunk: Buffer) => {
    output += chunk.toString()
    for (const watcher of watchers) watcher()
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  return {
    /** The end of the output so far, for `waitFor`. */
    printed: () => output.length,
    waitFor: (pattern: RegExp, from = 0) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (!pattern.test(output.slice(from))) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
        child.once('exit', () => reject(new Error(`${file} ended: ${output}`)))
      }),
    stop: async () => {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

const startHaproxy = async (places: readonly [Place, Place]): Promise<Balancer> => {
  const folder = await mkdtemp(join(tmpdir(), 'haproxy-'))
  const { key, certificate } = makeCertificate(folder)
  const both = join(folder, 'both.pem')
  await writeFile(both, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'))
  const [http, https, callbacks] = [await freePort(), await freePort(), await freePort()]
  const haproxy = run('haproxy', ['-db', '-f', deploy('haproxy/haproxy.cfg')], {
    PUBLIC_HTTP: `127.0.0.1:${http}`,
    PUBLIC_HTTPS: `127.0.0.1:${https}`,
    CALLBACKS_HTTPS: `127.0.0.1:${callbacks}`,
    CERTIFICATE: both,
    SERVICE_ONE: `127.0.0.1:${places[0].port}`,
    SERVICE_TWO: `127.0.0.1:${places[1].port}`,
    OPERATOR_ONE: `127.0.0.1:${places[0].operatorPort}`,
    OPERATOR_TWO: `127.0.0.1:${places[1].operatorPort}`,
  })
  const names = ['one', 'two']
  let since = 0
  const isUp = (index: number, from: number) => haproxy.waitFor(new RegExp(`service/${names[index]} is UP`), from)
  // Servers count as up until the first check, and nothing runs yet.
  await haproxy.waitFor(/service\/one is DOWN[\s\S]*service\/two is DOWN|service\/two is DOWN[\s\S]*service\/one is DOWN/)
  return {
    url: `https://localhost:${https}`,
    callbacks: `https://localhost:${callbacks}`,
    leaving: () => {
      since = haproxy.printed()
    },
    joined: (index) => isUp(index, since),
    close: async () => {
      await haproxy.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const startNginx = async (places: readonly [Place, Place]): Promise<Balancer> => {
  const folder = await mkdtemp(join(tmpdir(), 'nginx-'))
  const { key, certificate } = makeCertificate(folder)
  const [http, https, callbacks] = [await freePort(), await freePort(), await freePort()]
  const here: readonly [string, string][] = [
    ['10.0.0.11:3000', `127.0.0.1:${places[0].port}`],
    ['10.0.0.12:3000', `127.0.0.1:${places[1].port}`],
    ['10.0.0.11:3001', `127.0.0.1:${places[0].operatorPort}`],
    ['10.0.0.12:3001', `127.0.0.1:${places[1].operatorPort}`],
    ['listen 80;', `listen 127.0.0.1:${http};`],
    ['listen 443 ssl', `listen 127.0.0.1:${https} ssl`],
    ['listen 8443 ssl', `listen 127.0.0.1:${callbacks} ssl`],
    ['/etc/nginx/certificate.pem', certificate],
    ['/etc/nginx/certificate.key', key],
    ['/var/log/nginx/', `${folder}/`],
    ['deny all;', 'allow 127.0.0.1;\n    deny all;'],
  ]
  const site = here.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`deploy/nginx/payments.conf does not name ${from}`)
      return text.replaceAll(from, to)
    },
    readFileSync(deploy('nginx/payments.conf'), 'utf8'),
  )
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`)
  const main = join(folder, 'nginx.conf')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  await writeFile(
    main,
    `${user}\nevents {}\npid ${folder}/pid;\nerror_log stderr notice;\nhttp {\n${paths.join('\n')}\n${site}\n}\n`,
  )
  const nginx = run('nginx', ['-c', main, '-g', 'daemon off;'], {})
  await nginx.waitFor(/start worker process/)
  return {
    url: `https://localhost:${https}`,
    callbacks: `https://localhost:${callbacks}`,
    leaving: () => undefined,
    joined: () => undefined,
    close: async () => {
      await nginx.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Needs no program: connections alternate, and a process gets none between its SIGTERM and its next start. */
const startOurs = async (places: readonly [Place, Place]): Promise<Balancer> => {
  const front = await startRoundRobin()
  for (const { port } of places) front.add(port)
  return {
    url: `http://localhost:${front.port}`,
    callbacks: null,
    leaving: (index) => front.remove(places[index]?.port ?? 0),
    joined: async (index) => front.add(places[index]?.port ?? 0),
    close: front.close,
  }
}

export const balancers = { haproxy: startHaproxy, nginx: startNginx, 'a plain one': startOurs }
