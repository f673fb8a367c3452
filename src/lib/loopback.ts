const names = new Set(['localhost', '127.0.0.1', '[::1]'])

export const isLoopbackUrl = (url: string): boolean => {
  const { hostname } = new URL(url)
  return names.has(hostname) || hostname.endsWith('.localhost')
}

/** The URL at which a listener's own machine reaches it. */
export const localUrl = (host: string, port: number): string => {
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
