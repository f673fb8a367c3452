/** The pattern of `like` for texts that contain this one, which is taken literally. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`
