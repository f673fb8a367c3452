let expected = false

/** The next page is opened from here, not loaded: its content gets the focus, as after every change of page. */
export const expectArrival = (): void => {
  expected = true
}

export const takeArrival = (): boolean => {
  const taken = expected
  expected = false
  return taken
}
