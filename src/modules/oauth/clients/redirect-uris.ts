const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost'])
// Only the port may differ, so it is cut out of the text itself: a parser would normalise what must be compared.
const loopbackPattern = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?((?:[/?].*)?)$/
const maxLength = 2000

export const isLoopbackRedirect = (uri: string): boolean => loopbackPattern.test(uri)

/** What is wrong with a redirect URI in a registration, or undefined. */
export const redirectUriProblem = (uri: string): string | undefined => {
  if (uri.length > maxLength) return `is longer than ${maxLength} characters`
  if (/[\s\u0000-\u001f\u007f\\]/.test(uri) || !URL.canParse(uri)) return 'must be an absolute URI'
  const url = new URL(uri)
  const scheme = url.protocol.slice(0, -1)
  if (uri.includes('#')) return 'must not have a fragment'
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
  if (uri.includes('*')) return 'must not have a wildcard'
  if (scheme === 'https') return undefined
  if (scheme === 'http')
    return loopbackHosts.has(url.hostname) && isLoopbackRedirect(uri)
      ? undefined
      : 'must be https, unless it is on 127.0.0.1, [::1] or localhost'
  // A scheme without a dot belongs to the system (smb, ssh, ms-msdt, javascript …); an application's own scheme contains its maker's domain
  // name (RFC 8252, 7.1).
  if (!scheme.includes('.'))
    return 'must be https, http on this machine, or have a private-use scheme with a dot, such as com.example.app:/callback'
  return uri.slice(scheme.length).startsWith(':/') ? undefined : 'must have a path after its scheme'
}

const withoutPort = (uri: string): string | undefined => {
  const parts = loopbackPattern.exec(uri)
  return parts ? `${parts[1]}${parts[2]}` : undefined
}

/** Equal byte for byte, except for the port of a loopback address: a native application uses a free port each time (RFC 8252, 7.3). */
export const matchesRedirectUri = (registered: string, requested: string): boolean => {
  if (registered === requested) return true
  const anyPort = withoutPort(registered)
  return (
    anyPort !== undefined &&
    requested.length <= maxLength &&
    redirectUriProblem(requested) === undefined &&
    anyPort === withoutPort(requested)
  )
}

/** What a person sees about where the answer goes: the host, or the scheme of an application on this device. */
export const redirectHost = (uri: string): string => {
  const url = new URL(uri)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : `${url.protocol}//`
}
