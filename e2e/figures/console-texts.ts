import { hostileTexts } from '../console/hostile-texts.ts';
import { hostilePages, openHostileConsole } from '../console/open-hostile-console.ts';
import { missingBrowser } from '../support/browser.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'console-texts',
  title:
    '200 hostile texts in each member of each answer that a page of the console reads, in a real browser: none runs',
  coveredBy: 'e2e/console/every-field.test.ts',
  run: async (size, say) => {
    if (missingBrowser !== undefined) return { skipped: missingBrowser };
    await using hostile = await openHostileConsole();
    const texts = hostileTexts().length;
    // In the small size about twenty texts of each member, in even and odd turns.
    const step = size === 'small' ? 9 : 1;
    const problems: string[] = [];
    let visits = 0;
    for (const path of hostilePages) {
      for (let turn = 0; turn < texts; turn += step) {
        hostile.state.turn = turn;
        const { status, problems: found } = await hostile.visit(path);
        if (status !== 200) problems.push(`${path} was answered ${status}`);
        problems.push(...found.map((one) => `${path} has ${one}`));
        visits += 1;
      }
      say(`${path}: ${problems.length} problems, ${hostile.complaints.length} messages of the browser`);
    }
    return {
      holds: problems.length === 0 && hostile.complaints.length === 0,
      line: `${hostilePages.length} pages, ${visits} visits with ${texts} texts: ${problems.length} texts became markup, ${hostile.complaints.length} messages of the browser ${[...problems, ...hostile.complaints].slice(0, 3).join('; ')}`,
    };
  },
};
