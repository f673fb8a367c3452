const name = 'invitation'

/** The token is in the address's fragment, so that no server logs it, and is removed from the address at once. */
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

export const forgetInvitation = (): void => sessionStorage.removeItem(name)
