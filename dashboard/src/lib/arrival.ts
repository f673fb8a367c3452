let expected = false

/** The next page is reached from here, not by loading it: its content gets the focus, as after every other change of page. */
export const expectArrival = (): void => {
  expected = true
}

export const takeArrival = (): boolean => {
  const taken = expected
  expected = false
  return taken
}
