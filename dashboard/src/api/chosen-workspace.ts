const name = 'workspace'

const read = (): string | null => {
  try {
    return sessionStorage.getItem(name)
  } catch {
    return null
  }
}

let chosen = read()

/** The workspace of this tab. Null: the session's own, where this person worked last. */
export const chosenWorkspace = (): string | null => chosen

export const chooseWorkspace = (id: string | null): void => {
  chosen = id
  try {
    if (id === null) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, id)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
