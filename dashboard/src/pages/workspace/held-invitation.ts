const name = 'invitation'

/** The token travels behind the #, so that it reaches no server's log, and is taken out of the address at once. */
export const heldInvitation = (): string | null => {
  try {
    const arrived = location.pathname === '/invitation' ? decodeURIComponent(location.hash.slice(1)) : ''
    if (arrived !== '') {
      sessionStorage.setItem(name, arrived)
      history.replaceState(null, '', location.pathname)
    }
    return sessionStorage.getItem(name)
  } catch {
    return null
  }
}

export const letGoOfInvitation = (): void => sessionStorage.removeItem(name)
