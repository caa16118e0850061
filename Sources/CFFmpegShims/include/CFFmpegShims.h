// What Swift can't import of FFmpeg's headers: function-like macros, casts inside macros, and fields whose names differ
// between FFmpeg 5, 6 and 7. Constants are passed on, never retyped.

#ifndef CFFMPEG_SHIMS_H
#define CFFMPEG_SHIMS_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

/// AVERROR(EAGAIN), AVERROR(EINVAL), AVERROR(ENOMEM), AVERROR(EPERM): a function-like macro over errno.
int CFFmpegShims_errorAgain(void);
int CFFmpegShims_errorInvalidArgument(void);
int CFFmpegShims_errorNoMemory(void);

/// AVERROR_EOF, AVERROR_EXIT, AVERROR_INVALIDDATA: built by the FFERRTAG macro.
int CFFmpegShims_errorEndOfFile(void);
int CFFmpegShims_errorExit(void);
int CFFmpegShims_errorInvalidData(void);

/// AV_NOPTS_VALUE: a cast inside a macro.
int64_t CFFmpegShims_noTimestamp(void);

/// Makes the context refuse to open any other resource (mov's external references, for example): sets `io_open` to a
/// function that always fails, and limits the number of streams.
void CFFmpegShims_confine(AVFormatContext *context, int maximumStreamCount);

/// The frame's duration in its time base: `pkt_duration` before FFmpeg 6, `duration` since.
int64_t CFFmpegShims_frameDuration(const AVFrame *frame);

/// The number of channels: `channels` before FFmpeg 5.1, `ch_layout` since.
int CFFmpegShims_frameChannelCount(const AVFrame *frame);
int CFFmpegShims_parametersChannelCount(const AVCodecParameters *parameters);

/// Whether the frame was decoded with errors or after missing references (AV_FRAME_FLAG_CORRUPT is a shift macro).
int CFFmpegShims_frameIsCorrupt(const AVFrame *frame);

/// Whether the packet starts a random access point.
int CFFmpegShims_packetIsKey(const AVPacket *packet);

/// Sets the library's log level to AV_LOG_QUIET, once for the process; the engine reports errors as values.
void CFFmpegShims_silenceLog(void);

/// FF_THREAD_FRAME | FF_THREAD_SLICE and FF_COMPLIANCE_STRICT.
int CFFmpegShims_threadTypes(void);
int CFFmpegShims_strictCompliance(void);

/// Names the calling thread for debuggers: pthread_setname_np is a GNU extension, which Swift's module leaves out.
void CFFmpegShims_nameThread(const char *name);

#endif
