/**
 * A copy of a string in separate memory. A part of a string keeps the whole in memory, so that a kept term would keep
 * its document.
 */
export function ownString(text: string): string {
  // V8 copies parts of fewer characters.
  if (text.length < 13) return text;
  const copy = Buffer.from(text).toString();
  return copy === text ? copy : text;
}
