import { describe, expect, test } from 'vitest';
import { checkHttpsAnswer } from './check-https-answer.ts';

const json = { 'content-type': 'application/json' };

function outcome(statusCode: number, headers: Readonly<Record<string, string | string[]>> = json): unknown {
  try {
    checkHttpsAnswer({ statusCode, headers }, 1_000);
    return 'read';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('answers to a presigned GET', () => {
  test.each([
    [200, 'read'],
    [201, 'content_absent'],
    [204, 'content_absent'],
    [206, 'content_absent'],
    [301, 'address_refused'],
    [302, 'address_refused'],
    [304, 'address_refused'],
    [307, 'address_refused'],
    [400, 'content_absent'],
    [401, 'content_absent'],
    [403, 'content_absent'],
    [404, 'content_absent'],
    [408, 'dependency_unavailable'],
    [410, 'content_absent'],
    [429, 'dependency_unavailable'],
    [500, 'dependency_unavailable'],
    [503, 'dependency_unavailable'],
  ])('the HTTPS answer %i is %s', (status, expected) => {
    expect(outcome(status)).toBe(expected);
  });

  test('the message about an object that cannot be read is the same for each status', () => {
    const messageOf = (statusCode: number) => {
      try {
        return checkHttpsAnswer({ statusCode, headers: json }, 1_000);
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(new Set([201, 400, 401, 403, 404, 410].map(messageOf)).size).toBe(1);
    expect(messageOf(404)).not.toMatch(/\d/);
  });

  test.each([
    ['application/json', 'read'],
    ['Application/JSON; charset=UTF-8', 'read'],
    ['application/json;charset="utf-8"', 'read'],
    ['application/vnd.acme+json', 'read'],
    ['application/octet-stream', 'read'],
    ['binary/octet-stream', 'read'],
    ['application/json; charset=utf-16', 'malformed'],
    ['text/html', 'malformed'],
    ['text/plain', 'malformed'],
    ['application/jsonx', 'malformed'],
    ['', 'malformed'],
  ])('the content type %j is %s', (type, expected) => {
    expect(outcome(200, { 'content-type': type })).toBe(expected);
  });

  test('an answer of a content source without a content type, or with two, is malformed', () => {
    expect(outcome(200, {})).toBe('malformed');
    expect(outcome(200, { 'content-type': ['application/json', 'text/html'] })).toBe('malformed');
  });

  test.each([
    ['identity', 'read'],
    ['gzip', 'malformed'],
    ['br', 'malformed'],
    ['identity, gzip', 'malformed'],
    ['', 'malformed'],
  ])('the content encoding %j is %s', (encoding, expected) => {
    expect(outcome(200, { ...json, 'content-encoding': encoding })).toBe(expected);
  });

  test.each([
    ['1000', 'read'],
    ['1001', 'too_large'],
    ['99999999999999999999', 'too_large'],
  ])('the content length %s is %s', (length, expected) => {
    expect(outcome(200, { ...json, 'content-length': length })).toBe(expected);
  });
});
