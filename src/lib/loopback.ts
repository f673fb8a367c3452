const names = new Set(['localhost', '127.0.0.1', '[::1]'])

export const isLoopbackUrl = (url: string): boolean => {
  const { hostname } = new URL(url)
  return names.has(hostname) || hostname.endsWith('.localhost')
}
