const name = 'workspace'

const read = (): string | null => {
  try {
    return sessionStorage.getItem(name) ?? localStorage.getItem(name)
  } catch {
    return null
  }
}

let chosen = read()

/** The workspace that this tab looks at; null: the session's own. Each tab keeps its own, a new one begins with the last. */
export const chosenWorkspace = (): string | null => chosen

export const chooseWorkspace = (id: string | null): void => {
  chosen = id
  try {
    for (const storage of [sessionStorage, localStorage]) {
      if (id === null) storage.removeItem(name)
      else storage.setItem(name, id)
    }
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
