/** Hands a file to the browser's downloads. */
export const saveFile = (name: string, content: Blob): void => {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
