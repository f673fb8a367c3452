const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost'])
// Only the port may differ, so it is cut out of the text itself: a parser would normalise what must be compared.
const loopbackPattern = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?((?:[/?].*)?)$/
const maxLength = 2000

export const isLoopbackRedirect = (uri: string): boolean => loopbackPattern.test(uri)

/**
 * Schemes that a browser runs or shows by itself, and those of the system's own programs. Every other one may be an application's: RFC 8252 (7.1)
 * asks for its maker's domain name, but the editors that people connect have names without a dot (`cursor`, `vscode`).
 */
const notPrivateUse = new Set(
  (
    'javascript data file blob vbscript about filesystem view-source chrome edge resource jar ws wss ftp ftps sftp ssh telnet smb afp nfs dav davs ' +
    'ldap ldaps mailto tel sms facetime intent android-app market itms itms-apps search-ms ms-settings ms-msdt ms-appinstaller shell res mhtml'
  ).split(' '),
)
const isPrivateUse = (scheme: string): boolean => !notPrivateUse.has(scheme) && !/^(ms|x-apple)-/.test(scheme)

/** The answer goes to a program on the machine of the person who decides. */
export const isLocalRedirect = (uri: string): boolean => isLoopbackRedirect(uri) || !/^https?:/i.test(uri)

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
  if (!isPrivateUse(scheme)) return `must not have the scheme ${scheme.slice(0, 20)}: it belongs to browsers or to the system`
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
