/** Only a path of this site: what stands in an address bar must not send anybody elsewhere. */
export const safeReturn = (value: string | null): string =>
  value?.startsWith('/') && !/^\/[/\\]/.test(value) && !/[\u0000-\u001f]/.test(value) ? value : '/'

export const signInPath = (from: string): string => (from === '/' ? '/sign-in' : `/sign-in?return_to=${encodeURIComponent(from)}`)

/** Paths that the service answers itself rather than these pages. */
export const isServerPath = (path: string): boolean => /^\/(v1|link|docs|openapi\.json|\.well-known)(\/|$|\?)/.test(path)
