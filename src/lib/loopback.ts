const names = new Set(['localhost', '127.0.0.1', '[::1]'])

export const isLoopbackUrl = (url: string): boolean => {
  const { hostname } = new URL(url)
  return names.has(hostname) || hostname.endsWith('.localhost')
}

export const httpUrlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** The URL at which a listener's own machine reaches it. */
export const localUrl = (host: string, port: number): string =>
  httpUrlOf({ '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host, port)
